import { day, type House, type Moment } from './moment.ts';

/** People of the household and programs with an account. */
export async function accounts({ ask }: House): Promise<readonly Moment[]> {
  const all = (service: string, permission = 'read-write', resource = '*'): object => ({
    ...{ service, permission, resource },
  });
  const people = [
    {
      name: 'ben',
      grants: [all('downloads'), all('push'), all('git'), all('uptime', 'read'), all('inbox')],
    },
    { name: 'clara', grants: [all('downloads'), all('push', 'read', 'home-*')] },
  ];
  const programs = [
    {
      name: 'nas',
      description: 'Backups and disks of the NAS',
      grants: [all('push', 'write', 'nas-*'), all('notify', 'write')],
    },
    { name: 'home-assistant', description: 'Doors, lamps, garden', grants: [all('push', 'write', 'home-*')] },
  ];
  return [
    {
      ago: 30 * day,
      async run() {
        for (const person of people)
          await ask('POST', '/accounts', { ...person, password: `a long password of ${person.name}` });
        for (const program of programs) {
          await ask('POST', '/accounts', { ...program, kind: 'service' });
          await ask('POST', `/accounts/${program.name}/tokens`, { label: 'In its settings' });
        }
        await ask('POST', '/account/tokens', { label: 'Laptop' });
        await ask('POST', '/accounts/ben/tokens', { label: 'Phone', expiresAt: Date.now() + 60 * day });
        await ask('PATCH', '/accounts/clara', { enabled: true });
      },
    },
  ];
}
