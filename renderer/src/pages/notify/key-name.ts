/** The key that is there from the start, under the name that programs and older settings post to. */
export const usualKey = 'aggregator';

/** A key as pages call it. Nobody gave the first one its name; addresses and commands keep it. */
export function keyName(key: string): string {
  return key === usualKey ? 'General' : key;
}
