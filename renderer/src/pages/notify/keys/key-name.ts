import * as m from '#messages/notify-labels';
/** The default key, under the name that programs and older settings use. */
export const defaultKey = 'aggregator';

/**
 * Returns the label of a key. The default key has a label, because users did not name it; addresses and commands use
 * the technical name.
 */
export function formatKey(key: string): string {
  return key === defaultKey ? m.general() : key;
}
