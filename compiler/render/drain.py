import socket, ssl, time, urllib.request

start = time.monotonic()
url = "@URL@"
gauges = {@GAUGES@}
deadline = start + @SECONDS@

def new_client():
    tls = ssl.create_default_context()
    tls.check_hostname = False
    tls.verify_mode = ssl.CERT_NONE
    return urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=tls))

def timed_out(error):
    reason = getattr(error, "reason", error)
    return isinstance(reason, (socket.timeout, TimeoutError))

def requests_held(client):
    try:
        with client.open(url, timeout=1) as reply:
            text = reply.read().decode("utf-8", "replace")
    except OSError as error:
        if timed_out(error):
            return 1
        raise
    total = 0.0
    for line in text.splitlines():
        name = line.partition(" ")[0].partition("{")[0]
        if name not in gauges:
            continue
        value = line.rpartition("}")[2] if "{" in line else line[len(name):]
        try:
            total += float(value.split()[0])
        except (IndexError, ValueError):
            total += 1
    return total

try:
    time.sleep(5)
    client = new_client()
    idle = 0
    while idle < 2 and time.monotonic() < deadline:
        idle = idle + 1 if requests_held(client) == 0 else 0
        if idle < 2:
            time.sleep(1)
except Exception:
    pass
