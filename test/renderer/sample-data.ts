import type { Pages } from './visit.ts';

/** Inserts sample rows of different lengths. */
export function addSampleData({ inbox, downloads }: Pick<Pages, 'inbox' | 'downloads'>): void {
  const minutes = (count: number): number => Date.now() - count * 60_000;
  const long =
    'The nightly backup of `/srv/photos` finished after **42 min**.\n\n| | |\n|---|---|\n| files | ' +
    '18,204 |\n| new | 312 |\n| errors | 0 |\n\nNext run: tomorrow at 03:15.\n\nhttps://' +
    'nas.home.example/backup/report/2026-11-20-full-and-verified-with-a-long-name';
  inbox.add({ title: 'Weekly report', body: 'All good.', time: minutes(60 * 50), read: true });
  inbox.add({
    title: 'Certificate renewed',
    body: 'nas.home.example until February 19.',
    time: minutes(60 * 26),
    read: true,
  });
  inbox.add({
    title: 'New sign-in',
    body: 'From 192.168.1.20 with Firefox.',
    source: 'control',
    time: minutes(600),
    read: true,
  });
  inbox.add({
    title: '',
    body: 'A message without a title, only text.',
    source: 'push',
    topic: 'alerts',
    time: minutes(300),
    read: true,
  });
  inbox.add({
    title: 'Site answers slowly',
    body: '2.4 s on average',
    source: 'uptime',
    priority: 4,
    time: minutes(42),
  });
  inbox.add({
    title: 'nas.home.example is down',
    body: 'Connection refused, three times in a row.',
    source: 'uptime',
    priority: 5,
    time: minutes(12),
  });
  inbox.add({
    title: 'Backup finished: a subject line that is longer than any list should have to show in full',
    body: long,
    format: 'markdown',
    tags: ['nas', 'backup'],
    link: 'https://nas.home.example/',
    time: minutes(4),
  });
  downloads.set('1', {
    title: 'How lighthouses are built, and why they stand for centuries: a long title',
    state: 'finished',
    filename: 'How lighthouses are built.mp4',
    thumbnail: true,
    media: { channel: 'Lights of the coast', duration: 3912, height: 1080, videoCodec: 'h264', audioCodec: 'aac' },
    size: 412_000_000,
    finishedAt: minutes(200),
  });
  downloads.set('2', {
    title: 'Private video',
    state: 'failed',
    message: 'This video is private. Sign in to the site in your browser and export its cookies.',
    finishedAt: minutes(30),
  });
  downloads.set('3', {
    title: 'Harbour at dawn, four hours of calm water',
    state: 'downloading',
    percent: 62.4,
    stream: 'video',
    thumbnail: true,
    media: { channel: 'Calm waters', duration: 14_400 },
    speed: 3_140_000,
    eta: 42,
  });
  downloads.set('4', {
    title: 'Knots every sailor knows',
    state: 'postprocessing',
    activity: { kind: 'merging' },
  });
  downloads.set('5', {
    url: 'https://videos.example/watch?v=aVeryLongAddressThatHasNoTitleYetAndGoesOn',
    state: 'waiting',
  });
}
