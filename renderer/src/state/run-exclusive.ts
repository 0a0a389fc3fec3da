/**
 * A reading that never runs twice at once: what is asked for while it runs is done once more when it is over, so that the last
 * answer shown is also the latest. Resolves when nothing is left to be read.
 */
export function oneAtATime(read: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;
  const run = async (): Promise<void> => {
    try {
      while (again) {
        again = false;
        await read();
      }
    } finally {
      running = undefined;
    }
  };
  return () => {
    again = true;
    running ??= run();
    return running;
  };
}
