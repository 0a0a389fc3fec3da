import { describe, expect, it } from 'vitest';
import { recognizeMail } from '../../../services/mail/domain/recognize.ts';

const recognizeSubject = (subject: string, text = 'some text') =>
  recognizeMail({ subject, from: 'root@nas', text, attachmentTypes: [] });

const details = [
  'Details',
  '=======',
  'VMID    Name    Status    Time    Size       Filename',
  '101     web     ok        1m 2s   1.2 GiB    x.tar.zst',
  '102     db      err       2s      0 B        null',
  '',
  'Total running time: 1m 4s',
  'Total size: 1.2 GiB',
].join('\n');

describe('Proxmox backup mails', () => {
  it('keeps table, totals and errors of the format since VE 8.1', () => {
    const logs = "\n\nLogs\n====\n101: INFO: fine\n102: ERROR: Backup of VM 102 failed - unable to find VM '102'\n";
    expect(recognizeSubject('vzdump backup status (pve.lan): backup failed', details + logs)).toEqual({
      title: 'Backup on pve: failed',
      body: `${details}\n\n102: ERROR: Backup of VM 102 failed - unable to find VM '102'`,
      type: 'failure',
    });
    expect(
      recognizeSubject('vzdump backup status (pve.lan): backup successful', `${details}\n\nLogs\n====\n101: INFO: x`),
    ).toMatchObject({
      body: details,
      type: 'success',
    });
    expect(
      recognizeSubject('vzdump backup status (pve.lan): backup failed', `job errors\n\n${details}${logs}`).body,
    ).toContain(`job errors\n\n${details}`);
  });

  it('keeps the full text without logs', () => {
    const text = 'Something else\n====\nmore\n----\nLogs of today are elsewhere';
    expect(recognizeSubject('vzdump backup status (pve): backup successful', text).body).toBe(text);
  });
});

describe('subjects of known programs', () => {
  it.each([
    ['[FIRING:3] InstanceDown', 'failure'],
    ['[FIRING:1, RESOLVED:2] disk (nas)', 'failure'],
    ['[RESOLVED] disk', 'success'],
    ['[Alerting] cpu', 'failure'],
    ['[No Data] cpu', 'warning'],
    ['[My Site] [🔴 Down] timeout', 'failure'],
    ['[nas] [🔴 Down] timeout', 'failure'],
    ['[prod] [FIRING:2] InstanceDown', 'failure'],
    ['✅ [home] [RESOLVED:1] disk', 'success'],
    ['[Normal] cpu', 'success'],
    ['[Down] [nas] timeout', 'failure'],
    ['DOWN | nightly', 'failure'],
    ['[Warning] [App Center] Notification from your device: NAS', 'warning'],
    ['Unraid Status: Alert [TOWER] - Disk 1 in error state', 'failure'],
    ['Notice [TOWER] - Parity check finished (0 errors)', 'info'],
    ['UPS ups@localhost on battery', 'failure'],
    ['nas Power has returned', 'success'],
    ['Communications with UPS ups@localhost lost', 'warning'],
    ['[Fail2Ban] sshd: banned 192.0.2.1 from nas', 'warning'],
    ['unattended-upgrades result for nas: SUCCESS', 'success'],
    ['[reboot required] unattended-upgrades result for nas: SUCCESS', 'warning'],
    ["Garbage Collect Datastore 'x' failed", 'failure'],
    ['Verify Datastore x successful', 'success'],
    ['borg backup nas: SUCCESS', 'success'],
    ['Grafana: [FIRING:1]  (cpu)', 'failure'],
    ['Veeam: [Warning] Backup Job 1', 'warning'],
    ['[nas] 🔴 Down', 'failure'],
    ['[nas] ✅ Up', 'success'],
    ['nas.lan: WARNING - load', 'warning'],
    ['Zabbix: Problem: disk', 'failure'],
    ['Zabbix: Resolved in 5m: disk', 'success'],
    ['nas.lan is critical - disk space', 'failure'],
    ['nas.lan needs attention - load', 'warning'],
    ['nas.lan recovered - load', 'success'],
    ['monit alert --  Does not exist sshd', 'failure'],
    ['monit alert --  Connection succeeded web', 'success'],
    ['[rkhunter] Warnings found for nas', 'warning'],
    ['restic backup FAILED on nas', 'failure'],
    ['Backup job completed successfully', 'success'],
    ['Backup finished with warnings', 'warning'],
    ['Borgmatic failed', 'failure'],
    ['Backup failed for 2 of 3 volumes', 'failure'],
    ['[Failed] Backup Job 1 (3 machines)', 'failure'],
    ['** RECOVERY Service Alert: nas/disk is OK **', 'success'],
  ])('interprets %s as %s', (subject, type) => {
    const rendering = recognizeSubject(subject);
    expect(rendering.type).toBe(type);
    // The outcome does not change the text.
    expect(rendering.body).toBeUndefined();
  });

  it.each([
    ...['Nothing failed today', 'Re: your order', 'Weekly report', 'Parity of prices', 'Re: Problem: the printer'],
    ...['Backup finished: 0 failed', 'No sync without a successful login', 'An error on my invoice'],
  ])('keeps %s unchanged', (subject) => {
    expect(recognizeSubject(subject)).toEqual({});
  });

  it('derives the type of a pool or backup from the text', () => {
    expect(recognizeSubject('ZFS scrub_finish event for tank on nas', 'errors: No known data errors').type).toBe(
      'success',
    );
    expect(recognizeSubject('ZFS scrub_finish event for tank on nas', 'state: DEGRADED').type).toBe('warning');
    expect(recognizeSubject('Duplicati Backup report for photos', 'ParsedResult: Error\n').type).toBe('failure');
  });
});
