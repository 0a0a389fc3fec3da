import { services } from '../../../state/services.svelte.ts';

/**
 * Builds the URL at which players reach a path of the service.
 *
 * @param publicUrl Public URL of the settings, which takes precedence.
 * @param address Address of the service for the selected device; by default the local one.
 */
export function buildInstallUrl(
  path: string,
  publicUrl: string | null,
  address = services.getAddress('addons'),
): string {
  const base = publicUrl?.replace(/\/+$/, '') ?? address ?? 'http://127.0.0.1:3000';
  return `${base}${path}`;
}

/** Shortens the key in the address of a configuration, which is secret. */
export function hideKey(text: string): string {
  return text.replace(/(\/stremio\/[^/]{4})[^/]*\/.*?(?=\/(?:manifest\.json|stream\/)|$)/, '$1…');
}
