import { createHash } from 'node:crypto';
import type { Mapping } from '../domain/deliveries.ts';
import type { TopicAddresses } from '../domain/topic-address.ts';
import type { Rule } from '../domain/rules.ts';
import { parseTarget, splitTargets, type Target } from '../domain/target.ts';
import type { Settings } from '../settings.ts';

/** What the settings say about recipients. */
export interface Routing {
  readonly mappings: readonly Mapping[];
  readonly rules: readonly Rule[];
  readonly topics: TopicAddresses;
  /** Addresses of destinations by their fingerprints: they hold secrets, so only these are passed around. */
  readonly urls: ReadonlyMap<string, string>;
}

function targetOfUrl(url: string): Target & { readonly kind: 'url' } {
  const fingerprint = createHash('sha256').update(url).digest('hex').slice(0, 12);
  return { kind: 'url', scheme: /^[a-z][a-z0-9]*/i.exec(url)?.[0].toLowerCase() ?? 'url', fingerprint };
}

function targetsOf(text: string): readonly Target[] {
  return splitTargets(text)
    .map(parseTarget)
    .filter((target) => target !== undefined);
}

/** Reads the recipients and rules of the settings. */
export function routingOf({
  recipients,
  rules,
  topicDomain,
  topicPrefix,
}: Pick<Settings, 'recipients' | 'rules' | 'topicDomain' | 'topicPrefix'>): Routing {
  const urls = new Map<string, string>();
  const mappings = recipients.map(({ address, to, destinations, title, body, format }): Mapping => {
    const named = splitTargets(destinations).map((url) => {
      const target = targetOfUrl(url);
      urls.set(target.fingerprint, url);
      return target;
    });
    return { address, title, body, format, targets: [...targetsOf(to), ...named] };
  });
  return {
    mappings,
    urls,
    topics: { domain: topicDomain, prefix: topicPrefix },
    rules: rules.map(({ from, subject, to, drop, type, priority, tag, goesTo }) => ({
      ...{ from, subject, to, drop },
      type: type === 'as it is' ? undefined : type,
      priority: priority === 0 ? undefined : priority,
      tag: tag === '' ? undefined : tag,
      targets: targetsOf(goesTo),
    })),
  };
}
