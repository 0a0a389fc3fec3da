import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import type { Text } from '../../../services/contracts/text.ts';
import type { ServiceStorage } from './host-parts.ts';

/**
 * Returns the reason why something that a service depends on is unavailable, or undefined. The service that controls
 * the host reports the connection to other hosts, which all services use.
 */
export function findDependencyProblem(
  { blobs, capabilities }: Pick<ServiceDescriptor, 'blobs' | 'capabilities'>,
  storage: Pick<ServiceStorage, 'blobs' | 'relay'>,
): Text | undefined {
  const problem = blobs === undefined ? undefined : storage.blobs.getProblem();
  return problem ?? (capabilities?.includes('controlHost') === true ? storage.relay?.getProblem() : undefined);
}
