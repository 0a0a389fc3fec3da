import { pushApi, type PushFile } from '../../../../services/contracts/push/api.ts';
import { links } from '../../state/links.svelte.ts';

/** Where our page gets the file of a message that the server keeps; undefined until that is known. */
export function ownFile(topic: string, id: string, save = false): string | undefined {
  const path = pushApi.file.path.replace(':topic', topic).replace(':id', encodeURIComponent(id));
  return links.findUrl(path, save ? { save: 'true' } : {});
}

/** A picture that a browser draws, as far as its type or its name tells. */
export function looksDrawn({ type, name, url }: PushFile): boolean {
  if (type !== null) return /^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(type);
  return [name, url.split(/[?#]/, 1)[0] ?? ''].some((text) => /\.(png|jpe?g|gif|webp|avif)$/i.test(text));
}
