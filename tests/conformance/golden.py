"""The golden answers: what a real driver answered, and which answers it varies between.

    {"driver": …, "device": …, "date": …, "groups": {group: {"runs": n, "answers": {question: answer or [answers]}}}}
"""
import json
import pathlib

# Stands for a question that was not reached in a run.
ABSENT = "(not asked)"
END = "(end)"  # how the process ended, after its questions


def allowed(transcripts):
    """Question → set of its answers, over all transcripts of a group."""
    questions = {}
    for answers in transcripts:
        for question, _ in answers:
            questions.setdefault(question, set())
    for answers in transcripts:
        given = dict(answers)
        for question, seen in questions.items():
            seen.add(given.get(question, ABSENT))
    return questions


def as_json_answer(answers):
    return next(iter(answers)) if len(answers) == 1 else sorted(answers)


def was_cut(transcript):
    """Whether a run was ended from outside or not recorded: on a busy machine that says nothing of the driver."""
    end = dict(transcript).get(END, "")
    return not end or end == "time limit" or end.startswith("not recorded")


def make(machine, heard):
    """Runs that were cut count only where no run of the group came to its end."""
    groups = {}
    for group, all_transcripts in heard.items():
        transcripts = {t: count for t, count in all_transcripts.items() if not was_cut(t)} or all_transcripts
        questions = allowed(transcripts)
        groups[group] = {"runs": sum(transcripts.values()), "answers": {q: as_json_answer(a) for q, a in questions.items()}}
    return {**machine, "groups": groups}


def set_of(answer):
    return set(answer) if isinstance(answer, list) else {answer}


def asked_alike(first, second):
    """Whether both asked the same questions, as far as they came: a crash ends a group early."""
    def questions(answers):
        return [question for question in answers if question != END]

    shorter, longer = sorted((first, second), key=len)
    same = questions(longer)[: len(questions(shorter))] == questions(shorter)
    crashed = any(end.startswith("signal") for end in set_of(shorter.get(END, ABSENT)))
    return same and (crashed or list(shorter) == list(longer))


def all_cut(answers):
    return set_of(answers.get(END, ABSENT)) == {"time limit"}


def added(first, second):
    """The answers of both, in the order of the one that came further."""
    longer = max(first, second, key=len)
    return {q: as_json_answer(set_of(first.get(q, ABSENT)) | set_of(second.get(q, ABSENT))) for q in longer}


def merge(first, second):
    """The golden of both recordings; where both asked a group whose questions are the same, their answers add up."""
    merged = {**first, **second, "groups": dict(first["groups"])}
    for group, new in second["groups"].items():
        old = first["groups"].get(group)
        if old and all_cut(new["answers"]):
            continue
        if old and asked_alike(old["answers"], new["answers"]):
            merged["groups"][group] = {"runs": old["runs"] + new["runs"], "answers": added(old["answers"], new["answers"])}
        else:
            merged["groups"][group] = new
    return merged


def text(value, depth=0):
    """JSON with a line a question, so that a change of one answer is a change of one line."""
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    pad = " " * (depth + 1)
    lines = [f"{pad}{json.dumps(key, ensure_ascii=False)}: {text(item, depth + 1)}" for key, item in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{' ' * depth}}}" if lines else "{}"


def write(path, golden):
    pathlib.Path(path).write_text(text(golden) + "\n", encoding="utf-8")


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
