/** Settings that change while their service runs: who reads a field when it needs it has the newest. */
export interface LiveSettings<Settings extends object> {
  readonly current: Readonly<Settings>;
  /** For `Service.reconfigure`, which gets what the service's own schema has parsed. */
  readonly update: (next: unknown) => Promise<void>;
}

/** `taken` is called after each change, for what was made of settings and is not read again. */
export function createLiveSettings<Settings extends object>(
  initial: Settings,
  onUpdate: () => void | Promise<void> = () => undefined,
): LiveSettings<Settings> {
  const current = { ...initial };
  return {
    current,
    async update(next) {
      const fields = next as Settings;
      for (const name in current) if (!Object.hasOwn(fields, name)) delete current[name];
      Object.assign(current, fields);
      await onUpdate();
    },
  };
}
