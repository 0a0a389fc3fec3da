import type { Grantable } from '../../../../services/contracts/service.ts';
import { services } from '../../state/services.svelte.ts';

/** What accounts may be granted, as the services say it; topics come first, since most grants are about them. */
class GrantableThings {
  readonly list: readonly Grantable[] = $derived(
    services.list
      .flatMap((service) => service.grantable)
      .toSorted(
        (a, b) => Number(b.service === 'push') - Number(a.service === 'push') || a.title.localeCompare(b.title),
      ),
  );
  /** For a choice. */
  readonly options: readonly (readonly [string, string])[] = $derived(
    this.list.map(({ service, title }) => [service, title] as const),
  );

  title(service: string): string {
    return this.list.find((each) => each.service === service)?.title ?? service;
  }

  /** A pattern, as an example of what can be typed. */
  example(service: string): string {
    return this.list.find((each) => each.service === service)?.example ?? '*';
  }
}

export const grantable = new GrantableThings();
