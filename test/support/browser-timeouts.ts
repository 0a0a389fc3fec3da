/**
 * Timeout of a browser step in ms: longer than any step on a busy computer, and shorter than the timeout of a test,
 * whose error names no step.
 */
const stepTimeoutMs = 40_000;

/**
 * Waits for a browser step without a time limit. Chromium leaves one in thousands unanswered: the error names the step
 * and begins with the text by which `vitest.config.ts` repeats the test with a new page. A step that hangs three times
 * in a row is a fault of Homeport.
 */
export async function within<Result>(step: string, work: Promise<Result>): Promise<Result> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => limit.reject(new Error(`Chromium hangs: ${step}`)), stepTimeoutMs);
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}
