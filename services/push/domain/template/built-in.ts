/** The texts of a message as templates; an absent one leaves that part to the request. */
export interface MessageTemplate {
  readonly title?: string | undefined;
  readonly message?: string | undefined;
  readonly priority?: string | undefined;
}

const sign = '{{ if eq .status "firing" }}🚨{{ else if eq .status "resolved" }}✅{{ else }}⚠️{{ end }}';

const grafana: MessageTemplate = {
  title: `${sign} {{ .title }}`,
  message: '{{ default "(no message)" .message | trunc 2000 }}',
};

/** One block of lines an alert; start and end stand on one line without a space, as clients of the peer know it. */
const alertmanager: MessageTemplate = {
  title: `${sign} Alert: {{ with .alerts }}{{ (index . 0).labels.alertname }}{{ else }}{{ .groupLabels.alertname }}{{ end }}`,
  message: [
    'Status: {{ title .status }}',
    'Receiver: {{ .receiver }}',
    '{{ range .alerts -}}',
    'Alert: {{ .labels.alertname }}',
    'Instance: {{ .labels.instance }}',
    'Severity: {{ .labels.severity }}',
    'Starts at: {{ .startsAt }}{{ with .endsAt }}Ends at: {{ . }}{{ end }}',
    '{{ with .annotations.summary }}Summary: {{ . }}\n{{ end -}}',
    '{{ with .annotations.description }}Description: {{ . }}\n{{ end -}}',
    'Source: {{ .generatorURL }}',
    '{{ end }}',
  ].join('\n'),
};

const repository = '[{{ .repository.full_name }}]';

/** GitHub tells the kind of an event in a header only; here the fields tell it, the rarer ones first. */
const github: MessageTemplate = {
  title: [
    `{{- if .pull_request }}🔀 ${repository} Pull request #{{ .pull_request.number }} {{ if .review }}{{ .review.state }}{{ else if .comment }}commented{{ else }}{{ .action }}{{ end }}`,
    `{{- else if .issue }}{{ if .comment }}💬 ${repository} Comment on #{{ .issue.number }}{{ else }}🐛 ${repository} Issue #{{ .issue.number }} {{ .action }}{{ end }}`,
    `{{- else if .workflow_run }}{{ if eq (default "" .workflow_run.conclusion) "success" }}✅{{ else if .workflow_run.conclusion }}❌{{ else }}⚙️{{ end }} ${repository} {{ .workflow_run.name }}: {{ default .workflow_run.status .workflow_run.conclusion }}`,
    `{{- else if .check_run }}${repository} {{ .check_run.name }}: {{ default .check_run.status .check_run.conclusion }}`,
    `{{- else if .release }}🚀 ${repository} Release {{ .release.tag_name }} {{ .action }}`,
    `{{- else if .discussion }}💬 ${repository} Discussion #{{ .discussion.number }} {{ .action }}`,
    `{{- else if .deployment_status }}📦 ${repository} Deployment: {{ .deployment_status.state }}`,
    `{{- else if .alert }}🛡️ ${repository} Alert {{ .action }}`,
    `{{- else if .forkee }}🍴 ${repository} Fork by {{ .sender.login }}`,
    `{{- else if hasKey . "starred_at" }}⭐ ${repository} {{ if eq .action "deleted" }}Star removed by{{ else }}Star by{{ end }} {{ .sender.login }}`,
    `{{- else if .commits }}⬆️ ${repository} {{ len .commits }} {{ len .commits | plural "commit" "commits" }} to {{ trimPrefix "refs/heads/" .ref }}`,
    `{{- else if .zen }}🏓 {{ with .repository }}[{{ .full_name }}] {{ end }}Webhook works`,
    '{{- else }}GitHub{{ with .repository }} [{{ .full_name }}]{{ end }}{{ with .action }}: {{ . }}{{ end }}',
    '{{- end }}',
  ].join('\n'),
  message: [
    '{{- if .pull_request }}{{ .pull_request.title }}{{ with .review }}{{ with .body }}\n{{ trunc 1000 . }}{{ end }}{{ end }}{{ with .comment }}\n{{ trunc 1000 .body }}{{ end }}\nby {{ .sender.login }}\n{{ .pull_request.html_url }}',
    '{{- else if .issue }}{{ .issue.title }}{{ with .comment }}\n{{ trunc 1000 .body }}{{ end }}\nby {{ .sender.login }}\n{{ with .comment }}{{ .html_url }}{{ else }}{{ .issue.html_url }}{{ end }}',
    '{{- else if .workflow_run }}{{ with .workflow_run.display_title }}{{ . }}\n{{ end }}Branch: {{ .workflow_run.head_branch }}\n{{ .workflow_run.html_url }}',
    '{{- else if .check_run }}{{ .check_run.html_url }}',
    '{{- else if .release }}{{ default .release.tag_name .release.name }}{{ with .release.body }}\n{{ trunc 1000 . }}{{ end }}\n{{ .release.html_url }}',
    '{{- else if .discussion }}{{ .discussion.title }}\n{{ .discussion.html_url }}',
    '{{- else if .deployment_status }}{{ default "" .deployment_status.environment }}{{ with .deployment_status.description }}\n{{ . }}{{ end }}',
    '{{- else if .alert }}{{ with .alert.rule }}{{ .description }}\n{{ end }}{{ .alert.html_url }}',
    '{{- else if .forkee }}{{ .forkee.html_url }}',
    '{{- else if .commits }}{{ range $i, $commit := .commits }}{{ if lt $i 10 }}{{ trunc 7 $commit.id }} {{ first (splitList "\\n" $commit.message) }}\n{{ end }}{{ end }}by {{ with .pusher }}{{ .name }}{{ end }}\n{{ .compare }}',
    '{{- else if .zen }}{{ .zen }}',
    '{{- else }}{{ with .repository }}{{ .html_url }}{{ end }}',
    '{{- end }}',
  ].join('\n'),
};

/** Templates that are there from the start; a file of the same name takes precedence. */
export const builtIn: ReadonlyMap<string, MessageTemplate> = new Map(Object.entries({ grafana, alertmanager, github }));
