import * as texts from '#messages/manifests';
import type { PresetAccount } from '../../contracts/service.ts';

type Permission = PresetAccount['grants'][number]['permission'];

function grantsOn(permission: Permission, ...patterns: readonly string[]): PresetAccount['grants'] {
  return patterns.map((resource) => ({ resource, permission }));
}

/** Accounts for programs that publish. Topics are named `service-severity-category`. */
export const accounts: readonly PresetAccount[] = [
  {
    name: 'metrics-alerts',
    description: texts.metricsAlertsAccount,
    grants: grantsOn('write', '*-*-monitoring'),
  },
  {
    name: 'backup-jobs',
    description: texts.backupJobsAccount,
    grants: grantsOn('write', '*-*-backup'),
  },
  {
    name: 'workflow-engine',
    description: texts.workflowEngineAccount,
    grants: grantsOn('read-write', '*-*-deployment', '*-*-maintenance'),
  },
  {
    name: 'monitoring',
    description: texts.monitoringAccount,
    grants: grantsOn('read-write', '*'),
  },
];
