/** Event type with the condition that detects it and its texts. GitHub sends the type only in a header. */
interface Event {
  readonly when: string;
  readonly title: string;
  readonly message: string;
}

const repository = 'Repository: {{ .repository.html_url }}';
const inBrackets = '{{ with .repository }}[{{ .full_name }}] {{ end }}';

/** Returns a text with a heading, separated by an empty line, when the field exists. */
function withHeading(heading: string, path: string): string {
  return `{{ with ${path} }}\n${heading}:\n{{ trunc 2000 . }}{{ end }}`;
}

/** Events of ntfy's template, in its order and wording. */
const ntfyEvents: readonly Event[] = [
  {
    when: 'and .starred_at (eq .action "created")',
    title: '⭐ {{ .sender.login }} starred {{ .repository.name }}',
    message: `Stargazer: {{ .sender.html_url }}\n${repository}`,
  },
  {
    when: 'and .repository (eq .action "started")',
    title: '👀 {{ .sender.login }} started watching {{ .repository.name }}',
    message: `Watcher: {{ .sender.html_url }}\n${repository}`,
  },
  {
    when: 'and .comment (eq .action "created")',
    // Comments may also belong to pull requests or discussions.
    title:
      '💬 New comment on {{ with coalesce .issue .pull_request .discussion }}issue #{{ .number }} {{ .title }}' +
      '{{ else }}{{ .repository.full_name }}{{ end }}',
    message: [
      'Commenter: {{ .comment.user.html_url }}',
      repository,
      'Comment link: {{ .comment.html_url }}',
      withHeading('Comment', '.comment.body'),
    ].join('\n'),
  },
  {
    when: '.pull_request',
    title: '🔀 Pull request {{ .action }}: #{{ .pull_request.number }} {{ .pull_request.title }}',
    message: [
      'Branch: {{ .pull_request.head.ref }} → {{ .pull_request.base.ref }}',
      '{{ title .action }} by: {{ .pull_request.user.html_url }}',
      repository,
      'Pull request: {{ .pull_request.html_url }}',
      withHeading('Description', '.pull_request.body'),
    ].join('\n'),
  },
  {
    when: '.issue',
    title: '🐛 Issue {{ .action }}: #{{ .issue.number }} {{ .issue.title }}',
    message: [
      '{{ title .action }} by: {{ .issue.user.html_url }}',
      repository,
      'Issue link: {{ .issue.html_url }}',
      '{{ with .issue.labels }}Labels: {{ range . }}{{ .name }} {{ end }}{{ end }}',
      withHeading('Description', '.issue.body'),
    ].join('\n'),
  },
];

/** Events that ntfy's template does not support. */
const additionalEvents: readonly Event[] = [
  {
    when: '.workflow_run',
    title:
      '{{ if eq .workflow_run.conclusion "success" }}✅{{ else if .workflow_run.conclusion }}❌{{ else }}⚙️{{ end }} ' +
      `${inBrackets}{{ .workflow_run.name }}: {{ default .workflow_run.status .workflow_run.conclusion }}`,
    message:
      '{{ with .workflow_run.display_title }}{{ . }}\n{{ end }}' +
      'Branch: {{ .workflow_run.head_branch }}\n{{ .workflow_run.html_url }}',
  },
  {
    when: '.check_run',
    title: `${inBrackets}{{ .check_run.name }}: {{ default .check_run.status .check_run.conclusion }}`,
    message: '{{ .check_run.html_url }}',
  },
  {
    when: '.release',
    title: `🚀 ${inBrackets}Release {{ .release.tag_name }} {{ .action }}`,
    message: `{{ default .release.tag_name .release.name }}{{ with .release.body }}\n{{ trunc 1000 . }}{{ end }}\n{{ .release.html_url }}`,
  },
  {
    when: '.discussion',
    title: `💬 ${inBrackets}Discussion #{{ .discussion.number }} {{ .action }}`,
    message: `{{ .discussion.title }}\n{{ .discussion.html_url }}`,
  },
  {
    when: '.deployment_status',
    title: `📦 ${inBrackets}Deployment: {{ .deployment_status.state }}`,
    message: `{{ .deployment_status.environment }}{{ with .deployment_status.description }}\n{{ . }}{{ end }}`,
  },
  {
    when: '.alert',
    title: `🛡️ ${inBrackets}Alert {{ .action }}`,
    message: `{{ with .alert.rule }}{{ .description }}\n{{ end }}{{ .alert.html_url }}`,
  },
  { when: '.forkee', title: `🍴 ${inBrackets}Fork by {{ .sender.login }}`, message: '{{ .forkee.html_url }}' },
  { when: 'hasKey . "starred_at"', title: `⭐ ${inBrackets}Star removed by {{ .sender.login }}`, message: repository },
  {
    when: '.commits',
    title: `⬆️ ${inBrackets}{{ len .commits }} {{ len .commits | plural "commit" "commits" }} to {{ trimPrefix "refs/heads/" .ref }}`,
    message:
      '{{ range $i, $commit := .commits }}{{ if lt $i 10 }}' +
      '{{ trunc 7 $commit.id }} {{ first (splitList "\\n" $commit.message) }}\n{{ end }}{{ end }}' +
      'by {{ with .pusher }}{{ .name }}{{ end }}\n{{ .compare }}',
  },
  { when: '.zen', title: `🏓 ${inBrackets}Webhook works`, message: '{{ .zen }}' },
];

function buildConditional(field: 'title' | 'message', fallback: string): string {
  const branches = [...ntfyEvents, ...additionalEvents].map((event) => `if ${event.when} }}${event[field]}{{ else `);
  return `{{ ${branches.join('')}}}${fallback}{{ end }}`;
}

/** Template for all GitHub webhooks. */
export const github = {
  title: buildConditional(
    'title',
    'GitHub{{ with .repository }} [{{ .full_name }}]{{ end }}{{ with .action }}: {{ . }}{{ end }}',
  ),
  message: buildConditional('message', '{{ with .repository }}{{ .html_url }}{{ end }}'),
};
