/** Logo on a grid of 24 units: from Simple Icons, CC0, or our own drawing. */
export interface BrandLogo {
  /** Color of the brand, such as `#26a5e4`. */
  readonly color: string;
  /** Path data of SVG. */
  readonly path: string;
}
