"""Does with py-gitea what it is used for, and prints what came of it."""

import base64
import json
import sys

from gitea import Gitea, NotFoundException, Organization, Repository, User

url, token, hook = sys.argv[1:4]
gitea = Gitea(url, token)
out = {}
out["version"] = gitea.get_version().split(".")[0]
me = gitea.get_user()
out["me"] = [me.username, me.is_admin]
bob = User.request(gitea, "bob")
out["users"] = sorted(user.username for user in gitea.get_users())
repo = me.create_repo("py", description="by py-gitea", private=True, autoInit=True, default_branch="main")
out["repo"] = [repo.full_name, repo.private, repo.default_branch]
repo = Repository.request(gitea, "ada", "py")
repo.description = "changed"
repo.commit()
out["changed"] = Repository.request(gitea, "ada", "py").description
repo.create_file("a/b.txt", base64.b64encode(b"one").decode(), {"message": "add"})
content = [each for each in repo.get_git_content() if each.name == "README.md"][0]
out["readme"] = base64.b64decode(repo.get_file_content(content)).decode().startswith("# py")
out["commits"] = len(repo.get_commits())
main = repo.get_branches()[0]
repo.add_branch(main, "dev")
out["branches"] = sorted(branch.name for branch in repo.get_branches())
repo.add_topic("lamp")
repo.add_topic("python")
repo.del_topic("lamp")
out["topics"] = repo.get_topics()
made = repo.create_gitea_hook(hook, ["push"])
out["hooks"] = [each["config"]["url"] for each in repo.list_hooks()]
repo.delete_hook(made["id"])
out["left"] = repo.list_hooks()
out["collaborator"] = repo.is_collaborator(bob)
gitea.requests_put("/repos/ada/py/collaborators/bob", data={"permission": "read"})
out["permission"] = repo.get_user_permission(bob).permission
out["access"] = sorted(user.username for user in repo.get_users_with_access())
repo.remove_collaborator("bob")
org = gitea.create_org(me, "pyorg", "an organisation")
out["orgs"] = [each.name for each in gitea.get_orgs()]
out["members"] = [user.username for user in org.get_members()]
team = org.get_team("Owners")
team.add_user(bob)
out["team"] = sorted(user.username for user in team.get_members())
org.remove_member(bob)
org.create_repo("tool", autoInit=True)
out["org repos"] = [each.name for each in org.get_repositories()]
out["team repos"] = [each.name for each in team.get_repos()]
for each in org.get_repositories():
    each.delete()
org.delete()
repo.delete()
try:
    Repository.request(gitea, "ada", "py")
except NotFoundException:
    out["gone"] = True
print(json.dumps(out))
