"""Does with py-gitea what it is used for with issues and pull requests, and prints what came of it."""

import json
import sys

from gitea import Gitea, Issue, Repository

url, token = sys.argv[1:3]
gitea = Gitea(url, token)
out = {}
repo = Repository.request(gitea, "ada", "py")
milestone = repo.create_milestone("soon", "before winter")
out["milestone"] = [milestone.title, milestone.state]
repo.create_issue("First", assignees=["bob"], description="by py-gitea")
Issue.create_issue(gitea, repo, "Second", "another")
for number in range(40):
    repo.create_issue(f"Many {number}", assignees=[])
out["all"] = len(repo.get_issues_state(Issue.OPENED))
issue = Issue.request(gitea, "ada", "py", "1")
out["first"] = [issue.title, issue.body, issue.assignee.username, [each.username for each in issue.assignees]]
issue.title = "Changed"
issue.milestone = milestone
issue.state = Issue.CLOSED
issue.commit()
issue = Issue.request(gitea, "ada", "py", "1")
out["changed"] = [issue.title, issue.milestone.title, issue.state]
gitea.requests_post("/repos/ada/py/issues/2/comments", data={"body": "said"})
second = [each for each in repo.get_issues() if each.number == 2][0]
out["comments"] = [comment.body for comment in second.get_comments()]
pull = gitea.requests_post("/repos/ada/py/pulls", data={"title": "Dev", "head": "dev", "base": "main"})
out["pull"] = [pull["number"], pull["mergeable"]]
gitea.requests_post("/repos/ada/py/pulls/%d/merge" % pull["number"], data={"Do": "squash"})
out["merged"] = gitea.requests_get("/repos/ada/py/pulls/%d" % pull["number"])["merged"]
print(json.dumps(out))
