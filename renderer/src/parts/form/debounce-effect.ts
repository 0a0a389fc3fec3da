/**
 * Runs work after nothing has changed for `pauseMs`. It is meant for an effect, which calls the returned function
 * when its dependencies change or it is destroyed; this also aborts running work.
 */
export function debounceEffect(work: (signal: AbortSignal) => Promise<void>, delayMs = 200): () => void {
  const controller = new AbortController();
  const timer = setTimeout(() => void work(controller.signal), delayMs);
  return () => {
    clearTimeout(timer);
    controller.abort();
  };
}
