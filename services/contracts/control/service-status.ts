import { z } from 'zod';
import { defineTopic } from '../bus.ts';
import type { ServiceAction, ServiceWork } from '../health.ts';
import type { GrantableResource } from '../service.ts';
import { readTexts, type Text } from '../text.ts';
import { ServiceState, type ListenerState } from './api.ts';

/** State of a listener whose texts are evaluated for each reader. */
export type ListenerStatus = Omit<ListenerState, 'title' | 'reason'> & {
  readonly title: Text;
  readonly reason: Text | null;
};

/** State of a service as the host stores it. Its texts are evaluated for each reader, see {@link ServiceState}. */
export interface ServiceStatus extends Omit<
  ServiceState,
  'title' | 'summary' | 'grantable' | 'detail' | 'reason' | 'remedy' | 'begin' | 'running' | 'listeners'
> {
  readonly title: Text;
  readonly summary: Text;
  readonly grantable: readonly GrantableResource[];
  readonly detail: Text;
  readonly reason: Text | null;
  readonly remedy?: ServiceAction | undefined;
  readonly begin?: ServiceAction | undefined;
  readonly running?: ServiceWork[] | undefined;
  readonly listeners: readonly ListenerStatus[];
}

const schema = z.custom<ServiceStatus>((value) => ServiceState.safeParse(readTexts(value)).success);

/** Event of pages `serviceChanged` with texts that are evaluated for each reader. The host and services use this one. */
export const serviceStatusChanged = defineTopic('control.service', schema);
