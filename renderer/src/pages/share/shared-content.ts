/** Content that another app shared. */
export interface SharedContent {
  readonly title: string;
  /** Text without the title; it contains the link where the app sent it as text. */
  readonly text: string;
  /** The first web address; null without one. */
  readonly link: string | null;
}

/**
 * Parses the query of a share: `title`, `text` and `url` (see `share_target` in the manifest). Android apps send links
 * in the text, often with the title in front of it.
 */
export function parseSharedContent(query: Readonly<URLSearchParams>): SharedContent {
  const [title = '', text = '', url = ''] = ['title', 'text', 'url'].map((name) => (query.get(name) ?? '').trim());
  return { title, text, link: findLink(url) ?? findLink(text) ?? findLink(title) };
}

/** Builds the text of a message: the shared text, and the link unless the text contains it. */
export function buildMessageText({ title, text, link }: SharedContent): string {
  const lines = [text === '' ? title : text];
  if (link !== null && !lines.join('').includes(link)) lines.push(link);
  return lines.filter((line) => line !== '').join('\n');
}

function findLink(text: string): string | null {
  const [address] = /https?:\/\/[^\s<>"]+/i.exec(text) ?? [];
  if (address === undefined) return null;
  // A full stop or a bracket after the address belongs to the sentence.
  const link = address.replace(/[).,;:!?\]]+$/, '');
  return URL.canParse(link) ? link : null;
}
