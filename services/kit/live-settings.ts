/** Settings that change while their service runs; `current` always holds the latest values. */
export interface LiveSettings<Settings extends object> {
  readonly current: Readonly<Settings>;
  /**
   * Implements `Service.reconfigure`; expects values parsed by the service's schema.
   * @param apply Updates state that is derived from the settings; called after `current` has the new values
   */
  readonly update: (next: unknown, apply?: () => void | Promise<void>) => Promise<void>;
}

/** Creates live settings from the values that the service was created with. */
export function createLiveSettings<Settings extends object>(initial: Settings): LiveSettings<Settings> {
  const current = { ...initial };
  return {
    current,
    async update(next, apply) {
      const fields = next as Settings;
      for (const name in current) if (!Object.hasOwn(fields, name)) delete current[name];
      Object.assign(current, fields);
      await apply?.();
    },
  };
}
