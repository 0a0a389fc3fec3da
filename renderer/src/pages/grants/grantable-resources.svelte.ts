import type { Grantable } from '../../../../services/contracts/service.ts';
import { compareNames } from '../../../../services/contracts/compare-names.ts';
import { services } from '../../state/services.svelte.ts';

/** Resources that services declare as grantable. Push topics are listed first, because most grants refer to them. */
class GrantableResources {
  readonly list: readonly Grantable[] = $derived(
    services.list
      .flatMap((service) => service.grantable)
      .toSorted(
        (a, b) => Number(b.service === 'push') - Number(a.service === 'push') || compareNames(a.title, b.title),
      ),
  );
  /** Options of a select field. */
  readonly options: readonly (readonly [string, string])[] = $derived(
    this.list.map(({ service, title }) => [service, title] as const),
  );

  title(service: string): string {
    return this.list.find((each) => each.service === service)?.title ?? service;
  }

  /** Returns an example pattern for a service. */
  example(service: string): string {
    return this.list.find((each) => each.service === service)?.example ?? '*';
  }
}

export const grantable = new GrantableResources();
