const name = 'homeport.data.history';
const most = 50;

/** Statements that were run in this browser, the newest first. */
export function readHistory(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(name) ?? '[]');
    return Array.isArray(kept) ? kept.filter((each) => typeof each === 'string') : [];
  } catch {
    // A browser that keeps nothing, or somebody else's text under our name: there is no history then.
    return [];
  }
}

export function addToHistory(text: string): readonly string[] {
  const all = [text, ...readHistory().filter((each) => each !== text)].slice(0, most);
  try {
    localStorage.setItem(name, JSON.stringify(all));
  } catch {
    // It is a convenience: without room it ends with this page.
  }
  return all;
}
