//! Dimensions of grids and blocks.

/// `x,y,z`
pub fn numbers(text: &str) -> Option<[u64; 3]> {
    let mut parts = text.split(',').map(|part| part.trim().parse().ok());
    let triple = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(triple)
}

/// Dimensions and their product, if that is 1 to `most`.
pub fn product(dimensions: [u64; 3], most: u64) -> Option<([u64; 3], u64)> {
    let product = dimensions.iter().try_fold(1u64, |product, it| product.checked_mul(*it))?;
    (1..=most).contains(&product).then_some((dimensions, product))
}
