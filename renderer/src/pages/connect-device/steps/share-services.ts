import { network } from '../../../state/network.svelte.ts';
import { publicAddresses } from '../../../state/public-addresses.svelte.ts';
import { services } from '../../../state/services.svelte.ts';

/** Returns the services that other devices cannot reach. */
export function findUnshared(ids: readonly string[]): readonly string[] {
  return ids.filter((id) => publicAddresses.address(id) === null);
}

/**
 * Shares services with a sign-in, and enables the gateway for that when it is off.
 * @throws Problem with the reason of a failure.
 */
export async function shareServices(ids: readonly string[]): Promise<void> {
  const gateway = services.list.find(({ id }) => id === 'gateway');
  if (gateway?.state === 'off') await services.setEnabled('gateway', true);
  for (const id of ids) {
    const service = services.list.find((each) => each.id === id);
    if (service?.state === 'off') await services.setEnabled(id, true);
    await network.share(id, 'sign-in');
  }
  await publicAddresses.load();
}
