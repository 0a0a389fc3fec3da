/** Has work done once, a while after it was first asked for: what is asked for meanwhile is answered by the same. */
export function onceAfter(ms: number, work: () => void): () => void {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  return () => {
    waiting ??= setTimeout(() => {
      waiting = undefined;
      work();
    }, ms);
  };
}
