/** Thrown with the reason when an installation source cannot be used; the next one is tried. */
export class SourceUnavailable extends Error {
  override readonly name = 'SourceUnavailable';
}
