import type { sanitise as Sanitise, Sanitised } from './sanitise.ts';

/**
 * Loads and calls {@link sanitise}: its libraries are as large as the rest of the page and are only loaded for a text
 * that needs them.
 */
export async function renderRichText(...args: Parameters<typeof Sanitise>): Promise<Sanitised> {
  const { sanitise } = await import('./sanitise.ts');
  return sanitise(...args);
}
