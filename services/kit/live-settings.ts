/** Settings that change while their service runs; `current` always holds the latest values. */
export interface LiveSettings<Settings extends object> {
  readonly current: Readonly<Settings>;
  /** Implements `Service.reconfigure`; expects values parsed by the service's schema. */
  readonly update: (next: unknown) => Promise<void>;
}

/** Creates live settings. `onUpdate` is called after each change, for state derived from settings. */
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
