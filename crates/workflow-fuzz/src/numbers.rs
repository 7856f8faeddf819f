//! Numbers that look random, the same each time.

/// A deterministic generator of numbers.
pub struct Numbers(u64);

impl Numbers {
    /// Creates the generator with this number.
    pub fn new(number: u64) -> Self {
        let mut numbers = Self(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        numbers.below(2);
        numbers
    }

    /// A number below the end, or 0.
    pub fn below(&mut self, end: usize) -> usize {
        // Knuth's MMIX generator; its high bits are the better ones.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let high = usize::try_from(self.0 >> 33).expect("31 bits fit into usize");
        high % end.max(1)
    }
}
