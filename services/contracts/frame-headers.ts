/**
 * Headers of answers that no page may show within itself: what stands in a frame can be read by whoever looks over a shoulder,
 * and clicked by whoever was made to aim elsewhere. Programs take no notice.
 */
export const frameDenyHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
};
