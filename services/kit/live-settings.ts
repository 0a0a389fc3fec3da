/** Settings that change while their service runs: who reads a field when it needs it has the newest. */
export interface LiveSettings<Settings extends object> {
  readonly current: Readonly<Settings>;
  /** For `Service.reconfigure`, which gets what the service's own schema has parsed. */
  readonly take: (next: unknown) => Promise<void>;
}

/** `taken` is called after each change, for what was made of settings and is not read again. */
export function liveSettings<Settings extends object>(
  given: Settings,
  taken: () => void | Promise<void> = () => undefined,
): LiveSettings<Settings> {
  const current = { ...given };
  return {
    current,
    async take(next) {
      const fields = next as Settings;
      for (const name in current) if (!Object.hasOwn(fields, name)) delete current[name];
      Object.assign(current, fields);
      await taken();
    },
  };
}
