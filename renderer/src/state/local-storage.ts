/**
 * What this browser keeps for its person, by name. A browser may be told to keep nothing, and then refuses even to be asked:
 * what is chosen lasts as long as the page.
 */
export function readKept(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a text; null forgets it. */
export function keep(name: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // There is no room, or nothing is kept at all.
  }
}

/** What was kept as JSON; undefined where there is none, or something else wrote there. */
export function readKeptJson(name: string): unknown {
  try {
    return JSON.parse(readKept(name) ?? 'null') ?? undefined;
  } catch {
    return undefined;
  }
}

/** The texts of a list that was kept as JSON. */
export function textsOf(kept: unknown): readonly string[] {
  return Array.isArray(kept) ? kept.filter((text) => typeof text === 'string') : [];
}
