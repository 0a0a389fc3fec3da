import type { sanitise as Sanitise, Sanitised } from './sanitise.ts';

/** {@link sanitise}, brought in only when a text needs it: its libraries are as large as the rest of the page. */
export async function richText(...given: Parameters<typeof Sanitise>): Promise<Sanitised> {
  const { sanitise } = await import('./sanitise.ts');
  return sanitise(...given);
}
