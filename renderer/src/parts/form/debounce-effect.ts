/**
 * Does something once nothing has changed for `pauseMs`: for an effect, which calls the returned function when what it looks at
 * has changed again, or is gone. The signal then ends what is under way.
 */
export function afterPause(work: (signal: AbortSignal) => Promise<void>, pauseMs = 200): () => void {
  const leaving = new AbortController();
  const timer = setTimeout(() => void work(leaving.signal), pauseMs);
  return () => {
    clearTimeout(timer);
    leaving.abort();
  };
}
