import { services } from '../../state/services.svelte.ts';

/**
 * Where players reach what stands at a path of the service. `publicUrl`: where the settings say so; `address`: where the
 * device that is meant reaches the service, this computer's own where none is named.
 */
export function installAddress(
  path: string,
  publicUrl: string | null,
  address = services.getAddress('addons'),
): string {
  const base = publicUrl?.replace(/\/+$/, '') ?? address ?? 'http://127.0.0.1:3000';
  return `${base}${path}`;
}

/** An address of a configuration without the key in it, which nobody reads and not everybody should. */
export function withoutKey(text: string): string {
  return text.replace(/(\/stremio\/[^/]{4})[^/]*\/.*?(?=\/(?:manifest\.json|stream\/)|$)/, '$1…');
}
