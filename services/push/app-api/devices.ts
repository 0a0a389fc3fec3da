import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushDevicesApi } from '../../contracts/push/devices.ts';
import type { TopicDevices } from '../subscribe/topic-devices.ts';
import type { TopicPermissions } from './topic-permissions.ts';

/** Handlers for the devices that receive the messages of a topic. Devices of other accounts are for administrators. */
export function deviceHandlers(
  devices: Pick<TopicDevices, 'list'>,
  permissions: Pick<TopicPermissions, 'require'>,
): readonly ApiHandler[] {
  return [
    implement(pushDevicesApi.list, ({ identity, rights, params }) => {
      const topic = permissions.require(identity, 'read', params['topic']);
      const isVisible = (account: string | null): boolean =>
        rights.all || account === null || account === identity?.account;
      return { devices: devices.list(topic).filter(({ account }) => isVisible(account)) };
    }),
  ];
}
