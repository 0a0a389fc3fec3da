import { TopicName } from '../../contracts/push/topics.ts';

/** Target of a recipient's mail. */
export type Target =
  | { readonly kind: 'notify'; readonly configuration: string; readonly tag: string | undefined }
  | { readonly kind: 'push'; readonly topic: string }
  | { readonly kind: 'inbox' }
  /** Destination URL of notify, identified by its fingerprint because it contains secrets. */
  | { readonly kind: 'url'; readonly scheme: string; readonly fingerprint: string };

const keyPattern = /^[A-Za-z0-9_-]{1,128}$/;

/** Returns the tag of a query. A plus in a query is a space, which means "and" in a tag expression. */
function getTag(query: string): string | undefined {
  return new URLSearchParams(query).get('tag') ?? undefined;
}

/**
 * Parses a target: `notify://KEY[?tag=…]`, `push://topic`, `inbox://`, or the URL of a notification key
 * (`http://host:8000/notify/KEY?tag=…`), which always means this host's notify service; also results of {@link
 * formatTarget}. Returns undefined for other text.
 */
export function parseTarget(text: string): Target | undefined {
  if (/^inbox:\/\/\/?$/i.test(text.trim())) return { kind: 'inbox' };
  const [, urlScheme, fingerprint] = /^([a-z][a-z0-9]*):\/\/…#([0-9a-f]{12})$/.exec(text) ?? [];
  if (urlScheme !== undefined && fingerprint !== undefined) return { kind: 'url', scheme: urlScheme, fingerprint };
  const [, scheme = '', rest = ''] = /^(notify|push|https?):\/\/(.+)$/i.exec(text.trim()) ?? [];
  const [place = '', query = ''] = rest.split('?', 2);
  if (/^push$/i.test(scheme)) {
    const topic = TopicName.safeParse(place.replace(/\/$/, ''));
    return topic.success && query === '' ? { kind: 'push', topic: topic.data } : undefined;
  }
  const configurationPath = /^notify$/i.test(scheme)
    ? place
    : (/^[^/]+\/(?:.*\/)?notify\/([^/]+)\/?$/.exec(place)?.[1] ?? '');
  const configuration = configurationPath.replace(/\/$/, '');
  return keyPattern.test(configuration) ? { kind: 'notify', configuration, tag: getTag(query) } : undefined;
}

/** Formats a target as unique text without secrets. */
export function formatTarget(target: Target): string {
  switch (target.kind) {
    case 'push':
      return `push://${target.topic}`;
    case 'inbox':
      return 'inbox://';
    case 'url':
      return `${target.scheme}://…#${target.fingerprint}`;
    case 'notify':
      return `notify://${target.configuration}${target.tag === undefined ? '' : `?${new URLSearchParams({ tag: target.tag }).toString()}`}`;
  }
}

/** Splits the targets of a settings field. */
export function splitTargets(text: string): readonly string[] {
  return text.split(/\s+/).filter((part) => part !== '');
}
