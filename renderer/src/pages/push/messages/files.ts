import { pushApi, type PushFile } from '../../../../../services/contracts/push/api.ts';
import { links } from '../../../state/links.svelte.ts';

/** Returns the link to an attachment that the server stores; undefined until the link is loaded. */
export function findFileUrl(topic: string, id: string, asDownload = false): string | undefined {
  const path = pushApi.file.path.replace(':topic', topic).replace(':id', encodeURIComponent(id));
  return links.findUrl(path, asDownload ? { save: 'true' } : {});
}

/** True for a picture that browsers can display, according to its type or name. */
export function isPictureFile({ type, name, url }: PushFile): boolean {
  if (type !== null) return /^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(type);
  return [name, url.split(/[?#]/, 1)[0] ?? ''].some((text) => /\.(png|jpe?g|gif|webp|avif)$/i.test(text));
}
