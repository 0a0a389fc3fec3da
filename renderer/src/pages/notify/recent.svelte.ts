const place = 'homeport.notify.kinds';
/** Kinds that are remembered. */
const most = 6;

/** Kinds of destinations this browser's person added, the last first. */
class RecentKinds {
  schemes = $state.raw<readonly string[]>(read());

  note(scheme: string): void {
    this.schemes = [...new Set([scheme, ...this.schemes])].slice(0, most);
    localStorage.setItem(place, JSON.stringify(this.schemes));
  }
}

function read(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(place) ?? '[]');
    return Array.isArray(stored) ? stored.filter((scheme) => typeof scheme === 'string') : [];
  } catch {
    // Something else wrote there, or the browser keeps nothing: then none is remembered.
    return [];
  }
}

export const recentKinds = new RecentKinds();
