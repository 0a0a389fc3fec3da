/** Far beyond what any step takes on a busy machine, and far below a test's own limit, which names no step. */
const patienceMs = 40_000;

/**
 * Waits for a step of the browser that has no limit of its own. One in thousands is never answered, without a sign of what
 * the page waits for: the error says which step it was, and begins with the words by which `vitest.config.ts` tries the
 * test anew in a fresh page. What hangs three times in a row is a fault of ours.
 */
export async function within<Result>(step: string, work: Promise<Result>): Promise<Result> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => limit.reject(new Error(`Chromium hangs: ${step}`)), patienceMs);
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}
