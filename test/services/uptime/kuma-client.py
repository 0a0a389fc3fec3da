"""What a script does with the peer's own client; prints what it saw as one line of JSON."""

import json
import sys
import time

from uptime_kuma_api import DockerType, MaintenanceStrategy, MonitorType, UptimeKumaApi, UptimeKumaException, NotificationType, ProxyProtocol

url, user, password, target, engine = sys.argv[1:6]
seen = {}


def wait(look):
    for _ in range(600):
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise SystemExit(f"waited in vain; seen so far: {seen}")


with UptimeKumaApi(url, timeout=60) as api:
    seen["needSetup"] = api.need_setup()
    try:
        api.get_tags()
    except UptimeKumaException as error:
        seen["beforeLogin"] = str(error)
    try:
        api.login(user, "not this one")
    except UptimeKumaException as error:
        seen["wrong"] = str(error)
    token = api.login(user, password)["token"]
    seen["version"] = api.version
    seen["none"] = api.get_monitors()
    seen["added"] = api.add_monitor(type=MonitorType.HTTP, name="web", url=target, interval=20, maxretries=1)["msg"]
    monitor = api.get_monitors()[0]
    number = monitor["id"]
    seen["monitor"] = {key: monitor[key] for key in ["name", "type", "url", "interval", "active", "maxretries"]}
    api.edit_monitor(number, name="web two", basic_auth_user="u", basic_auth_pass="secret")
    again = api.get_monitor(number)
    seen["edited"] = [again["name"], again["basic_auth_pass"], again["url"] == target]
    wait(lambda: any(int(beat["status"]) == 1 for beat in api.get_monitor_beats(number, 1)))
    seen["beats"] = [[int(beat["status"]), beat["msg"]] for beat in api.get_monitor_beats(number, 1)][-1]
    seen["status"] = int(api.get_monitor_status(number))
    wait(lambda: number in api.get_heartbeats())
    seen["important"] = int(bool(api.get_important_heartbeats()))
    tag = api.add_tag(name="site", color="#112233")
    api.add_monitor_tag(tag_id=tag["id"], monitor_id=number, value="main")
    seen["tags"] = [[one["name"], one["value"]] for one in api.get_monitor(number)["tags"]]
    api.delete_monitor_tag(tag_id=tag["id"], monitor_id=number, value="main")
    api.delete_tag(tag["id"])
    seen["engine"] = api.test_docker_host(name="here", dockerType=DockerType.SOCKET, dockerDaemon=engine)["msg"]
    host = api.add_docker_host(name="here", dockerType=DockerType.SOCKET, dockerDaemon=engine)["id"]
    seen["hosts"] = [one["name"] for one in api.get_docker_hosts()]
    api.delete_docker_host(host)
    api.add_status_page("main", "All of it")
    api.save_status_page("main", title="All of it", publicGroupList=[{"name": "G", "weight": 1, "monitorList": [{"id": number}]}])
    page = api.get_status_page("main")
    seen["page"] = [page["title"], page["publicGroupList"][0]["monitorList"][0]["id"] == number]
    incident = api.post_incident("main", title="Trouble", content="We look", style="warning")
    seen["incident"] = incident["title"]
    api.unpin_incident("main")
    window = api.add_maintenance(title="disks", strategy=MaintenanceStrategy.CRON, cron="30 3 * * *", durationMinutes=45, timezoneOption="Europe/Berlin")["maintenanceID"]
    api.edit_maintenance(window, title="new disks", strategy=MaintenanceStrategy.RECURRING_WEEKDAY, weekdays=[1, 3])
    api.add_monitor_maintenance(window, [{"id": number}])
    api.add_status_page_maintenance(window, [{"id": page["id"]}])
    known = wait(lambda: [one for one in api.get_maintenances() if one["title"] == "new disks"])[0]
    seen["maintenance"] = [known["strategy"], known["status"], known["duration"], known["cron"]]
    seen["covered"] = [[one["id"] == number for one in api.get_monitor_maintenance(window)], [one["title"] for one in api.get_status_page_maintenance(window)]]
    api.pause_maintenance(window)
    seen["window"] = [api.get_maintenance(window)["status"], api.resume_maintenance(window)["msg"], api.delete_maintenance(window)["msg"]]
    key = api.add_api_key(name="prometheus", expires=None, active=True)
    seen["key"] = key["key"][:2]
    seen["keys"] = [one["name"] for one in api.get_api_keys()]
    api.delete_api_key(key["keyID"])
    api.add_monitor(type=MonitorType.PUSH, name="job")
    seen["paused"] = api.pause_monitor(number)["msg"]
    seen["active"] = api.get_monitor(number)["active"]
    api.resume_monitor(number)
    seen["settings"] = api.get_settings()["tlsExpiryNotifyDays"]
    seen["deleted"] = api.delete_monitor(number)["msg"]
    seen["left"] = [one["name"] for one in api.get_monitors()]
    seen["size"] = api.get_database_size()["size"] > 0
    notification = api.add_notification(name="own", type=NotificationType.APPRISE, appriseURL="json://127.0.0.1:1/x")["id"]
    seen["notifications"] = [[one["name"], one["appriseURL"]] for one in api.get_notifications()]
    seen["notification"] = api.delete_notification(notification)["msg"]
    proxy = api.add_proxy(protocol=ProxyProtocol.SOCKS5, host="127.0.0.1", port=1080, auth=True, username="ada", password="hush")["id"]
    seen["proxies"] = [[one["protocol"], one["port"], one["username"], one["auth"]] for one in api.get_proxies()]
    seen["proxy"] = api.delete_proxy(proxy)["msg"]
    try:
        api.test_chrome("x")
    except UptimeKumaException as error:
        seen["unknown"] = str(error)

with UptimeKumaApi(url, timeout=60) as api:
    api.login_by_token(token)
    seen["byToken"] = [one["name"] for one in api.get_monitors()]

print(json.dumps(seen))
