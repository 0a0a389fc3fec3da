/** Current time for relative times on pages, updated every 15 s. */
class Clock {
  now = $state(Date.now());

  constructor() {
    setInterval(() => (this.now = Date.now()), 15_000);
  }
}

export const clock = new Clock();
