/**
 * Returns a function that never runs `read` concurrently. Calls during a run cause one more run, so that the last
 * result is also the latest. It resolves when no run is left.
 */
export function runExclusive(read: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let isRequested = false;
  const run = async (): Promise<void> => {
    try {
      while (isRequested) {
        isRequested = false;
        await read();
      }
    } finally {
      running = undefined;
    }
  };
  return () => {
    isRequested = true;
    running ??= run();
    return running;
  };
}
