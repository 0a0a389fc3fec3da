import { TopicName } from '../../contracts/push/topics.ts';

/** Where mail of a recipient goes. */
export type Target =
  | { readonly kind: 'notify'; readonly configuration: string; readonly tag: string | undefined }
  | { readonly kind: 'push'; readonly topic: string }
  | { readonly kind: 'inbox' }
  /** A destination of the aggregator by its address, which is a secret and therefore only named by its fingerprint. */
  | { readonly kind: 'url'; readonly scheme: string; readonly fingerprint: string };

const key = /^[A-Za-z0-9_-]{1,128}$/;

/** A plus in a query is a space, which in a tag expression means "and". */
function tagOf(query: string): string | undefined {
  return new URLSearchParams(query).get('tag') ?? undefined;
}

/**
 * Reads a destination: `notify://KEY[?tag=…]`, `push://topic`, `inbox://`, or the web address of a notification key
 * (`http://host:8000/notify/KEY?tag=…`), which means the aggregator of this very app, whatever its host says; also what
 * {@link targetName} writes. Undefined when it is none of them.
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
  const path = /^notify$/i.test(scheme) ? place : (/^[^/]+\/(?:.*\/)?notify\/([^/]+)\/?$/.exec(place)?.[1] ?? '');
  const configuration = path.replace(/\/$/, '');
  return key.test(configuration) ? { kind: 'notify', configuration, tag: tagOf(query) } : undefined;
}

/** A text for each target that is the same for the same target, and holds no secret. */
export function targetName(target: Target): string {
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

/** The destinations of one field of the settings. */
export function splitTargets(text: string): readonly string[] {
  return text.split(/\s+/).filter((part) => part !== '');
}
