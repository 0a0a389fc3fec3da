import * as m from '#messages/downloads';
import { toasts } from '../../../state/toasts.svelte.ts';

/** Copies addresses to the clipboard, one per line. */
export async function copyLinks(addresses: readonly string[]): Promise<void> {
  try {
    await navigator.clipboard.writeText(addresses.join('\n'));
    toasts.show(m.linksCopied({ count: addresses.length }));
  } catch {
    // A page without HTTPS on another computer has no access to the clipboard.
    toasts.show(m.linksNotCopied(), { tone: 'bad' });
  }
}

/** Saves addresses as a text file with one address per line. */
export function saveLinks(addresses: readonly string[]): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([`${addresses.join('\n')}\n`], { type: 'text/plain' }));
  link.download = 'downloads.txt';
  link.click();
  URL.revokeObjectURL(link.href);
}
