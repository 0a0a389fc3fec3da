/** Documented payloads of programs beyond the recorded ones: headers and body. */
export const variants: Readonly<
  Record<string, readonly [body: Readonly<Record<string, unknown>>, headers?: Readonly<Record<string, string>>]>
> = {
  'Alertmanager: mixed group, quiet severity': [
    {
      version: '4',
      groupKey: '{}:{}',
      status: 'firing',
      receiver: 'desk',
      truncatedAlerts: 3,
      externalURL: 'http://am.example',
      groupLabels: {},
      commonLabels: { instance: 'nas:9100' },
      alerts: [
        {
          status: 'resolved',
          labels: { alertname: 'Old', instance: 'nas:9100' },
          annotations: {},
          startsAt: '2026-11-21T02:00:00Z',
          endsAt: '2026-11-21T03:00:00Z',
        },
        {
          status: 'firing',
          labels: { alertname: 'Heat', severity: 'warning', instance: 'nas:9100', disk: 'sda' },
          annotations: { message: 'too *warm*\nby 5 degrees' },
          startsAt: '2026-11-21T02:30:00.5Z',
          generatorURL: 'http://prom.example/graph?g0.expr=(x)',
        },
      ],
    },
  ],
  'Grafana: resolved': [
    {
      orgId: 1,
      version: '1',
      groupKey: '{}',
      title: '[RESOLVED] High CPU',
      state: 'ok',
      status: 'resolved',
      message: 'm',
      alerts: [{ status: 'resolved', labels: { alertname: 'High CPU' }, annotations: { summary: 'fine again' } }],
    },
  ],
  'Grafana: dashboard alert of old': [
    {
      dashboardId: 1,
      evalMatches: [{ value: 100, metric: 'High value', tags: null }],
      imageUrl: 'https://grafana.example/p.png',
      message: 'Someone is testing',
      orgId: 0,
      ruleId: 0,
      ruleName: 'Test notification',
      ruleUrl: 'https://grafana.example/alerting/list',
      state: 'alerting',
      title: '[Alerting] Test notification',
    },
  ],
  'GitHub: issue': [
    {
      action: 'opened',
      issue: {
        number: 3,
        title: 'It breaks',
        body: 'line 1\nline 2',
        html_url: 'https://github.example/o/r/issues/3',
        user: { login: 'bob' },
      },
      repository: { full_name: 'o/r' },
      sender: { login: 'bob' },
    },
    { 'x-github-event': 'issues' },
  ],
  'GitHub: comment': [
    {
      action: 'created',
      issue: { number: 3, title: 'It breaks' },
      comment: { body: 'same here', html_url: 'https://github.example/c/1', user: { login: 'eve' } },
      repository: { full_name: 'o/r' },
      sender: { login: 'eve' },
    },
  ],
  'GitHub: merged': [
    {
      action: 'closed',
      number: 7,
      pull_request: { number: 7, title: 'Add retry', merged: true, html_url: 'https://github.example/p/7' },
      repository: { full_name: 'o/r' },
      sender: { login: 'ada' },
    },
    { 'x-github-event': 'pull_request' },
  ],
  'GitHub: failed workflow': [
    {
      action: 'completed',
      workflow_run: {
        name: 'CI',
        run_number: 12,
        conclusion: 'failure',
        head_branch: 'main',
        head_sha: 'bffeb74224043b',
        display_title: 'Fix backup',
        html_url: 'https://github.example/runs/12',
        actor: { login: 'ada' },
      },
      repository: { full_name: 'o/r' },
    },
    { 'x-github-event': 'workflow_run' },
  ],
  'GitHub: release': [
    {
      action: 'published',
      release: { name: 'One', tag_name: 'v1', body: '- new', html_url: 'https://github.example/v1' },
      repository: { full_name: 'o/r' },
      sender: { login: 'ada' },
    },
    { 'x-github-event': 'release' },
  ],
  'GitHub: forced push, deleted branch': [
    {
      ref: 'refs/heads/old',
      before: 'bffeb74224043ba2feb48d137756c8a9331c449a',
      after: '0000000000000000000000000000000000000000',
      commits: [],
      deleted: true,
      repository: { full_name: 'o/r' },
      pusher: { name: 'ada' },
    },
  ],
  'GitHub: an event nobody described': [
    { action: 'created', repository: { full_name: 'o/r' }, sender: { login: 'ada' } },
    { 'x-github-event': 'star' },
  ],
  'Gitea: tag': [
    { ref: 'v2', ref_type: 'tag', repository: { full_name: 'o/r' }, sender: { login: 'ada' }, sha: 'x' },
    { 'x-gitea-event': 'create', 'x-github-event': 'create' },
  ],
  'GitLab: push': [
    {
      object_kind: 'push',
      before: '95790bf891e76fee5e1747ab589903a6a1f80f22',
      after: 'da1560886d4f094c3e6c9ef40349f7d38b5d27d7',
      ref: 'refs/heads/main',
      user_name: 'Ada',
      total_commits_count: 12,
      commits: [{ id: 'da1560886d4f', message: 'Fix *this*\n\nand that', author: { name: 'Ada' } }],
      project: { path_with_namespace: 'o/r', web_url: 'https://gitlab.example/o/r' },
    },
    { 'x-gitlab-event': 'Push Hook' },
  ],
  'GitLab: merge request': [
    {
      object_kind: 'merge_request',
      user: { name: 'Ada' },
      project: { path_with_namespace: 'o/r' },
      object_attributes: { iid: 4, title: 'MR', action: 'merge', url: 'https://gitlab.example/mr/4', description: 'd' },
    },
  ],
  'GitLab: pipeline': [
    {
      object_kind: 'pipeline',
      user: { name: 'Ada' },
      project: { path_with_namespace: 'o/r' },
      commit: { title: 'Fix' },
      object_attributes: { id: 31, ref: 'main', status: 'failed', url: 'https://gitlab.example/p/31' },
    },
  ],
  'GitLab: issue': [
    {
      object_kind: 'issue',
      user: { name: 'Ada' },
      project: { path_with_namespace: 'o/r' },
      object_attributes: {
        iid: 23,
        title: 'New API',
        action: 'open',
        description: 'Create it',
        url: 'https://gitlab.example/i/23',
      },
    },
  ],
  'Sonarr: upgrade of two episodes': [
    {
      eventType: 'Download',
      instanceName: 'Sonarr',
      isUpgrade: true,
      series: { title: 'Show' },
      episodes: [
        { seasonNumber: 2, episodeNumber: 10, title: 'A' },
        { seasonNumber: 2, episodeNumber: 11, title: 'B' },
      ],
      episodeFile: { relativePath: 'S02/x.mkv', quality: 'HDTV-720p' },
      applicationUrl: 'http://sonarr.example',
    },
  ],
  'Radarr: deleted, by an old one without a name': [{ eventType: 'MovieDelete', movie: { title: 'Film', year: 1999 } }],
  'Lidarr: grab': [
    {
      eventType: 'Grab',
      instanceName: 'Lidarr',
      artist: { name: 'Band' },
      albums: [{ title: 'One' }, { title: 'Two' }],
      release: { quality: 'FLAC', releaseTitle: 'Band-One', indexer: 'idx' },
    },
  ],
  'Readarr: import': [
    {
      eventType: 'Download',
      instanceName: 'Readarr',
      author: { name: 'Writer' },
      book: { title: 'Novel' },
      bookFiles: [{ path: '/b' }],
    },
  ],
  'Prowlarr: health restored': [
    {
      eventType: 'HealthRestored',
      instanceName: 'Prowlarr',
      level: 'warning',
      message: 'Indexers are back',
      type: 'x',
    },
  ],
  'Prowlarr: update': [
    {
      eventType: 'ApplicationUpdate',
      instanceName: 'Prowlarr',
      previousVersion: '1.0',
      newVersion: '1.1',
      message: 'u',
    },
  ],
  'Sonarr: wants a person': [
    {
      eventType: 'ManualInteractionRequired',
      instanceName: 'Sonarr',
      series: { title: 'Show' },
      episodes: [],
      downloadClient: 'qBittorrent',
    },
  ],
  'Overseerr: available': [
    {
      notification_type: 'MEDIA_AVAILABLE',
      event: 'Movie Request Now Available',
      subject: 'Film (2023)',
      message: 'An overview.',
      image: 'https://image.example/x.jpg',
      request: { requestedBy_username: 'bob' },
      extra: [{ name: 'Seasons', value: '1, 2' }],
    },
  ],
  'Jellyseerr: issue': [
    {
      notification_type: 'ISSUE_COMMENT',
      event: 'New Comment on Audio Issue',
      subject: 'Film (2023)',
      message: 'No sound',
      issue: { reportedBy_username: 'bob' },
      comment: { comment_message: 'looking', commentedBy_username: 'ada' },
    },
  ],
  'Watchtower: report': [
    {
      title: 'Watchtower updates on nas',
      host: 'nas',
      entries: [],
      report: {
        scanned: [{}, {}, {}],
        updated: [{ name: '/web', imageName: 'nginx:latest', state: 'Updated' }],
        failed: [{ name: '/db', imageName: 'postgres:18', error: 'no such image' }],
      },
    },
  ],
  'Watchtower: log': [
    {
      title: 'Watchtower updates on nas',
      host: 'nas',
      entries: [
        { level: 'info', message: 'Found new nginx:latest image' },
        { level: 'error', message: 'Unable to update /web' },
      ],
    },
  ],
  'Watchtower and Beszel by Shoutrrr': [{ title: 'Connection to nas is down', message: 'It is.', level: 'error' }],
  'Healthchecks: the check itself': [
    {
      name: 'Backup',
      slug: 'backup',
      tags: 'nas nightly',
      desc: 'Every night',
      n_pings: 67,
      status: 'down',
      last_ping: '2026-11-20T01:00:00+00:00',
      ping_url: 'https://hc.example/ping/secret',
    },
  ],
  'Healthchecks: own words': [{ name: 'Backup', status: 'up', code: 'd1665499-e827-441f-bf13-8f15e8f4c0b9' }],
  'Slack: attachments': [
    { text: 'top', attachments: [{ title: 'T', text: 'one', color: 'danger', fields: [{ title: 'a', value: 'b' }] }] },
  ],
  'Discord: embeds': [
    { content: '', embeds: [{ title: 'T', description: 'D', url: 'https://x.example/', fields: [] }] },
  ],
  'ntfy: JSON': [
    { topic: 't', message: 'm', title: 'T', priority: 5, tags: ['warning', 'a b!'], click: 'https://x.example/' },
  ],
  'Home Assistant: a target that is no tag': [{ message: 'm', target: 'mobile.phone!' }],
  'one by name alone': [{ name: 'Job', description: 'ran', status: 'ok' }],
  'Alertmanager with everything of the wrong type': [
    {
      version: '4',
      groupKey: 7,
      status: 'firing',
      alerts: 'x',
      commonLabels: [1],
      groupLabels: 'y',
      truncatedAlerts: 'z',
    },
  ],
  'Alertmanager that says nothing': [{ version: '4', groupKey: '', alerts: [] }],
  'Uptime Kuma that says nothing': [{ heartbeat: 5, monitor: [], msg: {} }],
  'arr with wrong types': [{ eventType: 'Download', instanceName: {}, series: 'x', episodes: [1, null, 'y'] }],
};
