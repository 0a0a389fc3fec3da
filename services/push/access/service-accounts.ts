import type { PresetAccount } from '../../contracts/service.ts';

type Permission = PresetAccount['grants'][number]['permission'];

function grantsOn(permission: Permission, ...patterns: readonly string[]): PresetAccount['grants'] {
  return patterns.map((resource) => ({ resource, permission }));
}

/** Accounts for programs that publish. Topics are named `service-severity-category`. */
export const accounts: readonly PresetAccount[] = [
  {
    name: 'metrics-alerts',
    description: 'Alert rules on metrics; publishes to monitoring topics.',
    grants: grantsOn('write', '*-*-monitoring'),
  },
  {
    name: 'backup-jobs',
    description: 'Backup scripts; publishes to backup topics.',
    grants: grantsOn('write', '*-*-backup'),
  },
  {
    name: 'workflow-engine',
    description: 'Pipelines and automations; publishes and reads deployment and maintenance topics.',
    grants: grantsOn('read-write', '*-*-deployment', '*-*-maintenance'),
  },
  {
    name: 'monitoring',
    description: 'Dashboards and uptime checks; publishes and reads all topics.',
    grants: grantsOn('read-write', '*'),
  },
];
