/** The views of the app and the addresses they stand at. */
export type View = 'home' | 'inbox' | 'downloads' | 'settings' | 'log' | 'more' | 'unknown';

const views: Readonly<Record<string, View>> = {
  '': 'home',
  inbox: 'inbox',
  downloads: 'downloads',
  settings: 'settings',
  log: 'log',
  more: 'more',
  // Whoever is signed in has nothing to do at these two.
  'sign-in': 'home',
  setup: 'home',
};

/** The view at a path and what follows its name: `/settings/push` is `settings` with `push`. */
export function viewAt(path: string): { readonly view: View; readonly rest: string } {
  const [name = '', rest = ''] = path.replace(/^\/|\/$/g, '').split('/');
  return { view: views[name] ?? 'unknown', rest };
}

/** An address with some fields of its query set, or with an empty value removed. */
export function refined(path: string, query: URLSearchParams, fields: Readonly<Record<string, string>>): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(fields)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  return next.size === 0 ? path : `${path}?${next.toString()}`;
}
