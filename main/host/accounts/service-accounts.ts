import { everyone, type Grant, type Role } from '../../../services/contracts/control/accounts.ts';
import { insertAccount, type Db } from './store.ts';

interface ReadyMade {
  readonly name: string;
  readonly role: Role;
  readonly description: string;
  readonly grants: readonly Grant[];
}

function onTopics(permission: Grant['permission'], ...patterns: readonly string[]): readonly Grant[] {
  return patterns.map((resource) => ({ service: 'push', resource, permission }));
}

/** Service accounts that wait to be switched on. Topics are named `service-severity-category`. */
const readyMade: readonly ReadyMade[] = [
  {
    name: 'administration',
    role: 'admin',
    description: 'Scripts that set up and look after this server; may do everything.',
    grants: [],
  },
  {
    name: 'metrics-alerts',
    role: 'user',
    description: 'Alert rules on metrics; publishes to monitoring topics.',
    grants: onTopics('write', '*-*-monitoring'),
  },
  {
    name: 'backup-jobs',
    role: 'user',
    description: 'Backup scripts; publishes to backup topics.',
    grants: onTopics('write', '*-*-backup'),
  },
  {
    name: 'workflow-engine',
    role: 'user',
    description: 'Pipelines and automations; publishes and reads deployment and maintenance topics.',
    grants: onTopics('read-write', '*-*-deployment', '*-*-maintenance'),
  },
  {
    name: 'monitoring',
    role: 'user',
    description: 'Dashboards and uptime checks; publishes and reads all topics.',
    grants: onTopics('read-write', '*'),
  },
];

/** Makes them, switched off and without any credential, and the entry that stands for everyone. */
export async function insertReadyMade(db: Db, now: number): Promise<void> {
  const kept = { kind: 'service', password_hash: null, created_at: now };
  const anyone = { name: everyone, role: 'user', enabled: 1, description: 'What everyone may do, signed in or not.' };
  await insertAccount(db, { ...kept, ...anyone }, []);
  for (const { name, role, description, grants } of readyMade) {
    await insertAccount(db, { ...kept, name, role, description, enabled: 0 }, grants);
  }
}
